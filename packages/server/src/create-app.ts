import type { FleetControl } from "@herdctl/core";
import { Hono } from "hono";

/** Everything of `FleetControl` over HTTP; where it listens is for the caller to say. */
export function createApp(_control: FleetControl): Hono {
  return new Hono();
}
