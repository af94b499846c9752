interface Sealed {
  readonly provider: string;
  readonly model: string;
  readonly data: unknown;
}

/** What a provider wants back with its thinking or a call, marked with whose it is: no other provider or model understands it. */
export function sealProviderData(provider: string, model: string, data: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ provider, model, data } satisfies Sealed));
}

/** The data again; undefined where it belongs to another provider or model, or is none of ours. */
export function openProviderData(providerData: Uint8Array, provider: string, model: string): unknown {
  try {
    const sealed = JSON.parse(new TextDecoder().decode(providerData)) as Partial<Sealed> | null;
    return sealed?.provider === provider && sealed.model === model ? sealed.data : undefined;
  } catch {
    return undefined;
  }
}
