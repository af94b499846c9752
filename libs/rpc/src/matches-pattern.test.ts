import { create } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import fc from "fast-check";
import { expect, it } from "vitest";
import { PermissionSettingsSchema } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { ToolCallSchema } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { matchesPattern } from "./matches-pattern.ts";

const ours = createValidator({ regexMatch: matchesPattern });
const theirs = createValidator();

it("finds the contracts' patterns to fit exactly where RE2 does", () => {
  const name = fc.oneof(
    fc.stringMatching(/^[a-z][a-z0-9_]{0,127}$/),
    fc.stringMatching(/^[a-z][a-z0-9_]*\*?$/),
    fc.string({ unit: "binary" }),
    fc.stringMatching(/^[a-z0-9_*\n\r ]{0,6}$/),
  );
  const hash = fc.oneof(fc.stringMatching(/^[0-9a-f]{63,65}\n?$/), fc.string({ unit: "binary" }));
  fc.assert(
    fc.property(name, hash, (tool, definitionHash) => {
      const call = create(ToolCallSchema, { tool, definitionHash });
      const settings = create(PermissionSettingsSchema, { mode: 1, allowedTools: [tool] });
      const named = (validator: typeof ours): unknown[] => [
        validator.validate(ToolCallSchema, call).violations?.map(({ message }) => message),
        validator.validate(PermissionSettingsSchema, settings).kind,
      ];
      expect(named(ours)).toEqual(named(theirs));
    }),
    { numRuns: 500 },
  );
});
