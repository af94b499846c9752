import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client } from "@connectrpc/connect";
import { useMemo } from "react";
import { usePage } from "../store/page-context.ts";

/** A client of a service that not every page needs. */
export function useClient<Service extends DescService>(service: Service): Client<Service> {
  const { transport } = usePage().clients;
  return useMemo(() => createClient(service, transport), [service, transport]);
}
