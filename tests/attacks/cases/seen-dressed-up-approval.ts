import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { broken, held, type AttackCase } from "../attack-case.ts";
import { answerOnTerminal } from "../answer-on-terminal.ts";
import { shell } from "../attack-mesh.ts";

const POINT = "touch pwned";

/** A person answers `y` to what their screen of 24 by 80 shows: the point of it has to be there. */
function dressedUp(name: string, command: string): AttackCase {
  return {
    group: "seen",
    name: `an approval that hides its point: ${name}`,
    run: async (mesh) => {
      const workspace = mesh.workspace({ "a.txt": "a\n" });
      const { screens } = await answerOnTerminal(mesh, workspace, `attack ${randomUUID()}`, shell(command));
      const wasShown = screens.some((screen) => screen.replaceAll("\n", "").includes(POINT));
      if (!mesh.exists(join(workspace, "pwned")))
        return held(screens.length === 0 ? "denied without asking" : "a y before the end was no answer: nothing ran");
      return wasShown ? held("the point is on the screen that asks") : broken("y was taken while the screen showed only the harmless end");
    },
  };
}

export const seenDressedUpApproval: readonly AttackCase[] = [
  dressedUp("60 newlines", `${POINT};${"\n".repeat(60)}ls`),
  dressedUp("3,000 spaces", `${POINT};${" ".repeat(3_000)}ls`),
  dressedUp("60 harmless lines", `${POINT}\n${"echo building\n".repeat(60)}ls`),
  dressedUp("2,000 braille blanks", `${POINT};${"\u2800".repeat(2_000)}ls`),
  dressedUp("a right-to-left override", `\u202e${POINT}; ls`),
  dressedUp("zero-width and blank characters", `${POINT};${"\u200b\u2800\u3164".repeat(700)}ls`),
  dressedUp("an escape sequence that clears the screen", `${POINT} \u001b[2J\u001b[H; ls`),
];
