import { publicKeysOf } from "@hlvm/identity/public-keys";
import { TokenVerifier } from "@hlvm/identity/token-verifier";
import { createLog } from "@hlvm/log/create-log";
import { PolicyService } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { RunPolicyService } from "@hlvm/proto/hlvm/run/v1/run_policy_pb";
import { answerCalls } from "@hlvm/call-stream/answer-calls";
import { startRpcServer } from "@hlvm/rpc/start-rpc-server";
import { createTestIdentity, testPrincipal } from "@hlvm/testing/test-identity";

/** As large as a real one. */
const GRANT = "g".repeat(700);

/** The second peer takes the tokens of the first, whose public keys it is given. */
const { minter, tokenKeys } = await createTestIdentity();
const [given] = process.argv.slice(2);
const keys = given === undefined ? tokenKeys : (JSON.parse(given) as typeof tokenKeys);
const server = await startRpcServer({
  host: "127.0.0.1",
  port: 0,
  log: createLog("bench", "error"),
  services: [PolicyService.typeName],
  authenticate: new TokenVerifier("policy", publicKeysOf(keys)),
  routes: (router) => {
    const value = { verdict: { grant: GRANT } };
    router.service(PolicyService, { decide: () => value });
    router.service(RunPolicyService, {
      streamCalls: (requests, context) =>
        answerCalls(requests, context, {
          async *answer() {
            yield { case: "decide" as const, value };
          },
          isLast: () => true,
        }),
    });
  },
});
process.on("disconnect", () => process.exit());
process.send!({ port: server.port, token: minter.mint(testPrincipal, "policy"), tokenKeys });
