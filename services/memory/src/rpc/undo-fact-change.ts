import type { HandlerContext } from "@connectrpc/connect";
import type { UndoFactChangeRequest } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import type { FactPorts } from "../domain/projects.ts";
import { undoChange } from "../domain/undo-change.ts";
import { encodeChange } from "./fact-change-codec.ts";
import { personsViewer } from "./viewer-of.ts";

export function undoFactChangeHandler({ store, projects }: FactPorts) {
  return async ({ changeId, project }: UndoFactChangeRequest, context: HandlerContext) => {
    const viewer = await personsViewer(context, projects, project);
    return { change: encodeChange(await store.inScope(viewer, (facts) => undoChange(facts, viewer, changeId))) };
  };
}
