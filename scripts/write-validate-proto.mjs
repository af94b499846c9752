// Writes proto/third_party/buf/validate/validate.proto from the descriptor inside @bufbuild/protovalidate.
// That package ships only generated code, and buf needs the schema to compile our constraints against; taking
// it from the installed package keeps schema and validator at one version. The rules' own CEL expressions stay
// behind: only the validator reads them, and it has them.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { FieldDescriptorProto_Label as Label, FieldDescriptorProto_Type as Type, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { clone } from "@bufbuild/protobuf";
import { file_buf_validate_validate as file } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

const proto = clone(FileDescriptorProtoSchema, file.proto);
const lines = [
  "// Written by `npm run gen` from @bufbuild/protovalidate (Apache-2.0, Copyright Buf Technologies, Inc.). Do not edit.",
  'syntax = "proto2";',
  `package ${proto.package};`,
  ...proto.dependency.map((path) => `import "${path}";`),
];
const scalar = (type) => Type[type].toLowerCase().replace("type_", "");
const typeName = (field) => field.typeName || scalar(field.type);
const label = (field, inOneof) =>
  inOneof ? "" : field.label === Label.REPEATED ? "repeated " : field.label === Label.REQUIRED ? "required " : "optional ";

function writeField(field, indent, inOneof = false) {
  lines.push(`${indent}${label(field, inOneof)}${typeName(field)} ${field.name} = ${field.number};`);
}
function writeExtensions(extensions, indent) {
  for (const extension of extensions) {
    lines.push(`${indent}extend ${extension.extendee} {`);
    writeField(extension, `${indent}  `);
    lines.push(`${indent}}`);
  }
}
function writeEnum(definition, indent) {
  lines.push(`${indent}enum ${definition.name} {`);
  for (const value of definition.value) lines.push(`${indent}  ${value.name} = ${value.number};`);
  lines.push(`${indent}}`);
}
function writeMessage(message, indent) {
  const inner = `${indent}  `;
  lines.push(`${indent}message ${message.name} {`);
  for (const nested of message.nestedType) writeMessage(nested, inner);
  for (const nested of message.enumType) writeEnum(nested, inner);
  for (const range of message.extensionRange)
    lines.push(`${inner}extensions ${range.start} to ${range.end >= 536870912 ? "max" : range.end - 1};`);
  for (const range of message.reservedRange) lines.push(`${inner}reserved ${range.start} to ${range.end - 1};`);
  for (const name of message.reservedName) lines.push(`${inner}reserved "${name}";`);
  for (const field of message.field) if (!("oneofIndex" in field) || !isMember(message, field)) writeField(field, inner);
  message.oneofDecl.forEach((oneof, index) => {
    lines.push(`${inner}oneof ${oneof.name} {`);
    for (const field of message.field) if (isMember(message, field) && field.oneofIndex === index) writeField(field, `${inner}  `, true);
    lines.push(`${inner}}`);
  });
  writeExtensions(message.extension, inner);
  lines.push(`${indent}}`);
}
const isMember = (message, field) => Object.hasOwn(field, "oneofIndex") && message.oneofDecl.length > 0;

for (const message of proto.messageType) writeMessage(message, "");
for (const definition of proto.enumType) writeEnum(definition, "");
writeExtensions(proto.extension, "");

const target = fileURLToPath(new URL("../proto/third_party/buf/validate/validate.proto", import.meta.url));
mkdirSync(dirname(target), { recursive: true });
writeFileSync(target, `${lines.join("\n")}\n`);
