/** Whom the provider says it is. */
export interface Identified {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string;
  /** Empty where there is none, or the provider says that nobody has checked it. */
  readonly email: string;
  /** Undefined where it said nothing of groups. */
  readonly groups?: readonly string[];
}

/** What binds an answer of the provider to the question that it belongs to. */
export interface LoginQuestion {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** The company's identity provider. */
export interface IdentityProvider {
  /** Where the browser goes to log in. @throws HlvmError `provider_unreachable` */
  loginUrl(question: LoginQuestion): Promise<URL>;
  /**
   * @param query what the browser brought back
   * @throws HlvmError `provider_unreachable`, `login_refused`, `provider_answer_refused`, `clocks_differ`, `groups_cut`
   */
  identify(query: string, question: LoginQuestion): Promise<Identified>;
  /** Where its own session ends; undefined where it has no such place. */
  logoutUrl(): Promise<URL | undefined>;
}
