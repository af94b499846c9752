type Environment = Readonly<Record<string, string | undefined>>;

/** What every process may want to know of the machine and the person's language. */
const MACHINE = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "NODE_COMPILE_CACHE", "NODE_EXTRA_CA_CERTS"];
/** Where traces and metrics go; each service adds its own name. */
const TELEMETRY = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
];
/** Settings may be read by any service; what may hold a secret, or the way to one, goes only to who is named for it. */
const SETTING = /^HLVM_[A-Z0-9_]+$/;
const CONFIDENTIAL = /KEY|TOKEN|SECRET|PASSWORD|URL/;

/**
 * The whole environment of a service: the machine's, the person's settings, the variables that were named for it, and
 * what the supervisor decides, which wins.
 */
export function serviceEnvironment(
  person: Environment,
  named: readonly string[],
  decided: Readonly<Record<string, string>>,
): Record<string, string> {
  const settings = Object.keys(person).filter((name) => SETTING.test(name) && !CONFIDENTIAL.test(name));
  const taken: Record<string, string> = {};
  for (const name of [...MACHINE, ...TELEMETRY, ...settings, ...named]) {
    const value = person[name];
    if (value !== undefined) taken[name] = value;
  }
  return { ...taken, ...decided };
}
