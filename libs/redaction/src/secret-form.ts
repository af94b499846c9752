export interface SecretForm {
  /** In words, as a person is told what was left out; of a form for many, told by the pattern's groups. */
  readonly kind: string | ((groups: Readonly<Record<string, string>>) => string);
  /** The group `before` is no part of the secret. */
  readonly pattern: RegExp;
  /** A text without this holds nothing of the form. */
  readonly sign?: string;
  /** What goes on with a secret of which the pattern takes only so much. Sticky. */
  readonly rest?: RegExp;
  /** Looks at what was found once more: false for what only looks like a secret. */
  readonly accept?: (match: RegExpExecArray, text: string) => boolean;
}
