import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  ContextFragmentSchema,
  DroppedFragmentSchema,
  GetContextResponseSchema,
  type ContextFragment,
  type SessionService,
} from "@hlvm/proto/hlvm/session/v1/session_pb";
import { callContext } from "@hlvm/rpc/call-context";
import type { Fragment } from "../domain/context/assemble-context.ts";
import { getContext, type GetContextPorts } from "../domain/session/get-context.ts";

const PREVIEW_LENGTH = 120;

/** For people who may read the session. */
export function getContextMethod(ports: GetContextPorts): ServiceImpl<typeof SessionService>["getContext"] {
  return async ({ sessionId }, context) => {
    const { model, budget, tokens, correction, fragments, dropped, floor } = await getContext(
      callContext(context).principal,
      sessionId,
      ports,
    );
    return create(GetContextResponseSchema, {
      model,
      contextWindow: budget.window,
      outputReserve: budget.reserve,
      compactionThreshold: budget.threshold,
      tokens,
      correction,
      fragments: fragments.map(encodeFragment),
      dropped: dropped.map((one) => create(DroppedFragmentSchema, one)),
      trustFloor: floor,
    });
  };
}

function encodeFragment({ provenance: { source, trust, kind, sequence, at }, text, tokens }: Fragment): ContextFragment {
  const preview = text.slice(0, PREVIEW_LENGTH).toWellFormed().replace(/\s+/g, " ").trim();
  return create(ContextFragmentSchema, { source, trust, kind, sequence, at, tokens, preview });
}
