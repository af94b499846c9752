/** On whose behalf facts are read and written: the scope of everything that a call can reach. */
export interface Viewer {
  readonly organization: string;
  readonly principal: string;
  /** The workspace's path; empty outside a workspace, and then no project's facts are seen. */
  readonly project: string;
  /** Whether the viewer may write what the whole organization sees. */
  readonly mayWriteTeamFacts: boolean;
}
