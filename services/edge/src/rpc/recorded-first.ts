import { clearField, clone, toJsonString, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import type { TokenMinter } from "@hlvm/identity/token-minter";
import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { callContext, outgoing } from "@hlvm/rpc/call-context";
import type { Backend } from "./backends.ts";
import type { MoreHeaders } from "./forward.ts";
import { passedOnError } from "./passed-on-error.ts";

/**
 * Puts a call on record in its person's name before it is handed on: what cannot be recorded is not done. Fields that the contract marks
 * as secret (`debug_redact`) are left out.
 */
export function recordedFirst(method: DescMethodUnary, policy: Backend, minter: TokenMinter): MoreHeaders {
  const audit = createClient(AuditService, policy.transport);
  return async (request, context) => {
    const call = callContext(context);
    const requestJson = toJsonString(method.input, withoutSecrets(method, request));
    const token = minter.mint(call.principal, policy.name);
    try {
      await audit.recordAdministration({ method: `${method.parent.typeName}/${method.name}`, requestJson }, outgoing({ ...call, token }));
    } catch (thrown) {
      throw passedOnError(thrown, policy.name, context.signal);
    }
    return {};
  };
}

function withoutSecrets({ input }: DescMethodUnary, request: Message): Message {
  const copy = clone(input, request);
  for (const field of input.fields) if (field.proto.options?.debugRedact === true) clearField(copy, field);
  return copy;
}
