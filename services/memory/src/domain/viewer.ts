/** On whose behalf facts are read and written: the scope of everything that a call can reach. */
export interface Viewer {
  readonly organization: string;
  readonly principal: string;
  /** The workspace's path; empty outside a workspace, and then no project's facts are seen. */
  readonly project: string;
  /** Whether the viewer may write what the whole organization sees. */
  readonly mayWriteTeamFacts: boolean;
  /** The call of a run in whose course it happens; undefined where the person does it. */
  readonly call?: { readonly sessionId: string; readonly runId: string; readonly callId: string };
}
