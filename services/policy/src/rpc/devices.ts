import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import type { DeviceService } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { demandPerson } from "../domain/demand-person.ts";
import { answerDevice, findDevice } from "../domain/identity/device-login.ts";
import type { CodeTyper, DeviceStore } from "../domain/identity/device-store.ts";

/** Codes are typed by people, and by no run in their name. */
export function deviceMethods(store: DeviceStore): ServiceImpl<typeof DeviceService> {
  return {
    findDevice: async ({ userCode }, context) => {
      const { label, address, begunAt } = await findDevice(store, typerOf(context), userCode);
      return { label, address, begunAt: timestampFromDate(begunAt) };
    },
    answerDevice: async ({ userCode, allow }, context) => {
      await answerDevice(store, typerOf(context), { typed: userCode, allow }, callContext(context).traceId);
      return {};
    },
  };
}

function typerOf(context: HandlerContext): CodeTyper {
  const { principal, delegation } = callContext(context);
  demandPerson(delegation);
  return { organization: principal.organization, principal: principal.id };
}
