import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { FactOrigin, FactScope, FactType, type FactFilterSchema } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { readWorkspace } from "../options/read-workspace.ts";

/** Which facts, as flags say it. */
export interface FactFilterFlags {
  readonly scope?: string;
  readonly origin?: string;
  readonly type?: string;
  readonly category?: string;
  readonly by?: string;
  readonly since?: Date;
  readonly until?: Date;
}

/** Facts of the folder that the command was called from are among them. */
export function factFilterOf(flags: FactFilterFlags): MessageInitShape<typeof FactFilterSchema> {
  const { scope, origin, type, category, by, since, until } = flags;
  return {
    project: readWorkspace("."),
    scope: scope === undefined ? undefined : FactScope[scope.toUpperCase() as keyof typeof FactScope],
    origin: origin === undefined ? undefined : FactOrigin[origin.toUpperCase() as keyof typeof FactOrigin],
    type: type === undefined ? undefined : FactType[type.toUpperCase() as keyof typeof FactType],
    category,
    principal: by,
    since: since && timestampFromDate(since),
    until: until && timestampFromDate(until),
  };
}
