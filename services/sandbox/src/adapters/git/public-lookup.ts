import { lookup, type LookupAddress, type LookupOptions } from "node:dns";
import { BlockList, isIP } from "node:net";
import { HlvmError } from "@hlvm/errors/hlvm-error";

/** Not the public internet: IANA's special-purpose registries of IPv4 and IPv6. */
const NOT_PUBLIC: readonly (readonly [address: string, prefix: number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

const notPublic = new BlockList();
for (const [address, prefix] of NOT_PUBLIC) notPublic.addSubnet(address, prefix, isIP(address) === 6 ? "ipv6" : "ipv4");
/** All that is routed publicly; addresses that stand for IPv4 ones are outside of it. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

export function isPublicAddress(address: string): boolean {
  const version = isIP(address);
  if (version === 4) return !notPublic.check(address, "ipv4");
  return version === 6 && globalUnicast.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

type Answer = (error: Error | null, addresses: LookupAddress[] | string, family?: number) => void;

/**
 * Looks names up for connections that a stranger's address asks for. What was checked here is what is connected to: a name that
 * gives another answer to the next question leads nowhere else.
 * @param privateHosts names and addresses that may lead into the operator's own network
 */
export function publicLookup(privateHosts: ReadonlySet<string>) {
  return (host: string, options: LookupOptions, answer: Answer): void => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return answer(error, []);
      if (!privateHosts.has(host) && addresses.some(({ address }) => !isPublicAddress(address))) return answer(privateAddress(host), []);
      if (options.all === true) return answer(null, addresses);
      answer(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

/** Of a host that is an address itself, which nobody looks up. @throws HlvmError `address_not_public` */
export function requirePublicHost(host: string, privateHosts: ReadonlySet<string>): void {
  const address = host.replace(/^\[|\]$/g, "");
  if (isIP(address) !== 0 && !privateHosts.has(address) && !isPublicAddress(address)) throw privateAddress(host);
}

function privateAddress(host: string): HlvmError {
  return new HlvmError({
    code: "permission_denied",
    reason: "address_not_public",
    message: `${host} is an address of a private network, which repositories are not fetched from.`,
    advice: "Where that is the company's own git server, have the operator name it in HLVM_SANDBOX_GIT_PRIVATE_HOSTS.",
  });
}
