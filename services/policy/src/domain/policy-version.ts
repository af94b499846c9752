/** Names the rules that decided; it is signed into every grant. Change it with any change to what the pipeline answers. */
export const POLICY_VERSION = "2026-11-22.3";
