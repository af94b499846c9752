import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { TrustState, type TrustedWorkspaceSchema, type TrustService } from "@hlvm/proto/hlvm/trust/v1/trust_pb";
import { callContext } from "@hlvm/rpc/call-context";
import { demandPerson } from "../domain/demand-person.ts";
import { addTrust, removeTrust } from "../domain/trust/change-trust.ts";
import { checkTrust, type TrustState as StateWord } from "../domain/trust/check-trust.ts";
import type { TrustedWorkspace, TrustStore } from "../domain/trust/trust-store.ts";

const STATES: Readonly<Record<StateWord, TrustState>> = {
  trusted: TrustState.TRUSTED,
  untrusted: TrustState.UNTRUSTED,
  changed: TrustState.CHANGED,
};

/** A run may ask what its person trusts; to change it takes the person. */
export function trustMethods(store: TrustStore): ServiceImpl<typeof TrustService> {
  return {
    checkTrust: async ({ workspace, files }, context) => {
      const states = await checkTrust(store, callContext(context).principal, workspace, files);
      return { states: states.map((state) => STATES[state]) };
    },
    addTrust: async ({ workspace, files }, context) => {
      const { principal, delegation, traceId } = callContext(context);
      demandPerson(delegation);
      const trusted = await addTrust(store, principal, traceId, { workspace, files });
      return { trusted: encode(trusted, false) };
    },
    listTrust: async ({ workspace }, context) => {
      const { principal, delegation } = callContext(context);
      demandPerson(delegation);
      if (workspace === "") return { workspaces: (await store.list(principal)).map((one) => encode(one, false)) };
      const found = await store.find(principal, workspace);
      return { workspaces: found === undefined ? [] : [encode(found, true)] };
    },
    removeTrust: async ({ workspace }, context) => {
      const { principal, delegation, traceId } = callContext(context);
      demandPerson(delegation);
      return { removed: await removeTrust(store, principal, traceId, workspace) };
    },
  };
}

function encode({ workspace, files, trustedAt }: TrustedWorkspace, withTexts: boolean): MessageInitShape<typeof TrustedWorkspaceSchema> {
  const encoded = files.map(({ path, sha256, text }) => ({ path, sha256, text: withTexts ? text : "" }));
  return { workspace, files: encoded, trustedAt: timestampFromDate(trustedAt) };
}
