import { ProfileSource, type AgentProfile } from "@hlvm/proto/hlvm/session/v1/event_pb";

/**
 * The one place that says whether a profile's instructions may be given to a model. What comes with HLVM and what is the person's
 * own may. A workspace's file is a stranger's word like its other instruction files, and counts where the person named it for
 * this run; their client sends it only where they trust its text.
 * @param isNamed the person named it for this run
 */
export function isTrustedProfile({ source }: Pick<AgentProfile, "source">, isNamed: boolean): boolean {
  return source === ProfileSource.BUILT_IN || source === ProfileSource.PERSON || (source === ProfileSource.WORKSPACE && isNamed);
}
