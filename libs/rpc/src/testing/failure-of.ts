import { ConnectError } from "@connectrpc/connect";

/** The error with which a call fails. @throws Error where it does not, or with none that calls fail with */
export async function failureOf(call: Promise<unknown>): Promise<ConnectError> {
  const thrown = await call.then(
    () => new Error("It should have failed."),
    (cause: unknown) => cause,
  );
  if (thrown instanceof ConnectError) return thrown;
  throw new Error("It should have failed with a ConnectError.", { cause: thrown });
}
