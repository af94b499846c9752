import { create, toBinary } from "@bufbuild/protobuf";
import { fileDesc, type GenFile } from "@bufbuild/protobuf/codegenv2";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

const file = create(FileDescriptorProtoSchema, { name: "buf/validate/validate.proto", package: "buf.validate", syntax: "proto2" });

/** Stands where the contracts import the rules of their fields: the page does not check them, the server does. */
export const file_buf_validate_validate: GenFile = fileDesc(btoa(String.fromCharCode(...toBinary(FileDescriptorProtoSchema, file))));
