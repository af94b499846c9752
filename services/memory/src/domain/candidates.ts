/** Facts that may answer a question, as the index knows them. */
export interface Candidates {
  readonly ids: readonly string[];
}
