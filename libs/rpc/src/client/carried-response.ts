import type { DescMethod, DescService } from "@bufbuild/protobuf";

/** What a caller is given of a carried call. Headers and trailers are not carried: no contract has any. */
export class CarriedResponse<Streams extends boolean, Method extends DescMethod, Answer> {
  readonly stream: Streams;
  readonly service: DescService;
  readonly method: Method;
  readonly message: Answer;

  constructor(stream: Streams, method: Method, message: Answer) {
    this.stream = stream;
    this.service = method.parent;
    this.method = method;
    this.message = message;
  }

  get header(): Headers {
    return new Headers();
  }

  get trailer(): Headers {
    return new Headers();
  }
}
