import { EXIT_FAILED } from "../command.ts";
import type { Screen } from "../terminal/screen.ts";

/** What is said to somebody who leaves a run that goes on; the exit code is not the one of an answer. */
export function leftRunning(sessionId: string, endsWithUs: boolean, screen: Screen): number {
  const how = `\`hlvm session watch ${sessionId}\` shows how far it came`;
  if (endsWithUs)
    screen.note(`Left. The mesh that was started for this command ends, unless others use it; the run goes on with the next: ${how}.`);
  else screen.note(`Left; the run goes on. ${how}, and \`hlvm approval list\` what waits for you.`);
  return EXIT_FAILED;
}
