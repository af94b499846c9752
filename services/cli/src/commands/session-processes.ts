import { createClient } from "@connectrpc/connect";
import { BackgroundProcessSchema, SandboxService, type BackgroundProcess } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { withMesh } from "../mesh/with-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { localTime } from "../output/local-time.ts";
import { messageJson } from "@hlvm/ndjson/message-json";
import { table } from "../output/table.ts";
import { printable } from "../terminal/printable.ts";

/** What runs in the background of a session; with `--stop`, what was stopped. */
export async function sessionProcesses(
  sessionId: string,
  flags: { stop?: number; json?: boolean },
  context: CommandContext,
): Promise<number> {
  const processes = await withMesh(context, async (transport) => {
    const client = createClient(SandboxService, transport);
    if (flags.stop === undefined) return (await client.listProcesses({ sessionId })).processes;
    const { process } = await client.stopProcess({ sessionId, processId: flags.stop });
    return process === undefined ? [] : [process];
  });
  if (flags.json === true) for (const one of processes) process.stdout.write(jsonLine(messageJson(BackgroundProcessSchema, one)));
  else if (processes.length === 0) context.screen.note("Nothing runs in the background of this session.");
  else process.stdout.write(table(["PROCESS", "STARTED", "STATE", "COMMAND"], processes.map(row)));
  return EXIT_OK;
}

function row({ processId, startedAt, end, command }: BackgroundProcess): string[] {
  return [String(processId), localTime(startedAt), end === "" ? "running" : end, printable(command.replaceAll(/\s+/g, " "))];
}
