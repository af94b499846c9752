import { HlvmError } from "@hlvm/errors/hlvm-error";
import { rotateKeys, type RotatedKeys } from "@hlvm/mesh/rotate-keys";
import { EXIT_OK, type CommandContext } from "../command.ts";
import { connectMesh } from "../mesh/connect-mesh.ts";
import { jsonLine } from "../output/json-line.ts";
import { table } from "../output/table.ts";

/** Has this machine's mesh, started for it where none is up, rotate its keys. */
export async function keysRotate(flags: { json?: boolean }, context: CommandContext): Promise<number> {
  const mesh = await connectMesh(context);
  try {
    if (mesh.state === undefined) throw elsewhere();
    const keys = await rotateKeys(mesh.state.controlSocket);
    process.stdout.write(flags.json === true ? jsonLine(keysJson(keys)) : describe(keys));
    return EXIT_OK;
  } finally {
    await mesh.release();
  }
}

function describe({ rotated, replacedCountUntil }: RotatedKeys): string {
  const rows = rotated.map(({ service, kid, replaced }) => [service, kid, replaced]);
  return `${table(["SERVICE", "NEW KEY", "REPLACED"], rows)}\nWhat the replaced keys signed counts until ${replacedCountUntil}.\n`;
}

function keysJson({ rotated, replacedCountUntil }: RotatedKeys): object {
  return { rotated, replaced_count_until: replacedCountUntil };
}

function elsewhere(): HlvmError {
  return new HlvmError({
    code: "failed_precondition",
    reason: "mesh_elsewhere",
    message: "HLVM_EDGE_URL names a mesh elsewhere, whose keys are not on this machine.",
    advice: "Run the command there, or without HLVM_EDGE_URL for the mesh of this machine.",
  });
}
