/** Everything from which headers can be made. */
export type HeadersInput = NonNullable<ConstructorParameters<typeof Headers>[0]>;
