import { fromConnectError } from "@hlvm/connect-errors/from-connect-error";
import { EXIT_FAILED, EXIT_OK, type CommandContext } from "../command.ts";
import { fail, type Check, type CheckResult } from "../doctor/check.ts";
import { bubblewrapCheck, directoryCheck, diskCheck, nodeCheck } from "../doctor/machine-checks.ts";
import { meshChecks } from "../doctor/mesh-checks.ts";
import { connectMesh } from "../mesh/connect-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import type { Tone } from "../terminal/paint.ts";
import { Screen } from "../terminal/screen.ts";

const TONES: Readonly<Record<CheckResult, Tone>> = { ok: "good", warn: "warning", fail: "bad" };

/** Checks this machine and its mesh, started for it where none is up. Exit code 1 where something fails. */
export async function doctor(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const { directory, bubblewrap, noColor } = context.config;
  const shown = new Screen(process.stdout, process.stdout, noColor !== "");
  let failed = false;
  const show = (check: Check): void => {
    failed ||= check.result === "fail";
    if (flags.json === true) process.stdout.write(jsonLine(check));
    else {
      shown.note(`${check.result.padEnd(4)}  ${check.name}: ${check.detail}`, TONES[check.result]);
      if (check.advice !== "") shown.note(`      What to do: ${check.advice}`);
    }
  };
  show(nodeCheck(process.versions.node));
  show(directoryCheck(directory));
  show(diskCheck(directory));
  show(await bubblewrapCheck(bubblewrap, directory));
  for (const check of await checkMesh(context)) show(check);
  return failed ? EXIT_FAILED : EXIT_OK;
}

async function checkMesh(context: CommandContext): Promise<Check[]> {
  try {
    const mesh = await connectMesh(context);
    try {
      return await meshChecks(mesh);
    } finally {
      await mesh.release();
    }
  } catch (thrown) {
    const error = fromConnectError(thrown);
    return [fail("mesh", error.message, error.advice)];
  }
}
