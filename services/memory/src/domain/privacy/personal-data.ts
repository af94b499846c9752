/** A person of an organization. */
export interface Person {
  readonly organization: string;
  readonly principal: string;
}

export interface PersonalRecord {
  readonly kind: string;
  /** One JSON object. */
  readonly json: string;
}

export interface RecordPage {
  readonly records: readonly PersonalRecord[];
  /** Empty: that was all. */
  readonly nextCursor: string;
}

/** What is held of a person; all of it, beyond what anybody else may see. */
export interface PersonalData {
  /** @throws HlvmError `cursor_malformed` */
  exportPage(person: Person, cursor: string): Promise<RecordPage>;
  /** Everything of theirs goes; what is shared stays without their name. @returns how much of each kind */
  erase(person: Person): Promise<ReadonlyMap<string, number>>;
}
