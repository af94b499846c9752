import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { callContext } from "@hlvm/rpc/call-context";
import {
  ExportFormat,
  ExportSessionResponseSchema,
  ForkSessionResponseSchema,
  ImportSessionResponseSchema,
  type SessionService,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import { requireDelegation } from "../domain/session/require-delegation.ts";
import { exportSession } from "../domain/session/export-session.ts";
import { forkSession } from "../domain/session/fork-session.ts";
import { importSession } from "../domain/session/import-session.ts";
import { encodeSession } from "./encode-session.ts";
import type { Orchestrator } from "./orchestrator.ts";

type Methods = ServiceImpl<typeof SessionService>;

/** The methods that make a file of a session, or a session of a file or of another session. */
export function copyMethods({
  store,
  log,
  attached,
  delegations,
  mesh,
}: Orchestrator): Pick<Methods, "exportSession" | "importSession" | "forkSession"> {
  return {
    async *exportSession({ sessionId, format }, context) {
      const { principal, signal } = callContext(context);
      const exported = { principal, sessionId, format: format === ExportFormat.MARKDOWN ? "markdown" : "ndjson", signal } as const;
      for await (const text of exportSession(exported, { store, log, attached, encode: encodeSession }))
        yield create(ExportSessionResponseSchema, { text });
    },
    async importSession({ ndjson, workspace }, context) {
      const session = await importSession(callContext(context).principal, ndjson, workspace, store);
      return create(ImportSessionResponseSchema, { session: encodeSession(session) });
    },
    async forkSession({ sessionId, atSequence, copyFiles, runId, delegation }, context) {
      const { principal } = callContext(context);
      const asked = { principal, sessionId, at: Number(atSequence), forkId: randomUUID() };
      if (copyFiles) requireDelegation(delegations.verify(delegation), { principal, sessionId, runId });
      const copying = copyFiles ? { log, sandbox: mesh({ principal, delegation }).sandbox } : undefined;
      const session = await forkSession(asked, store, copying);
      return create(ForkSessionResponseSchema, { session: encodeSession(session) });
    },
  };
}
