import { newPushSubscriptionSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { defineEndpoint } from "./define-endpoint.ts";

export const pushEndpoints = {
  pushKey: defineEndpoint("pushKey", {
    summary: "Get the public key with which browsers subscribe to notifications (VAPID).",
    response: z.object({ key: z.string() }),
    handle: async ({ control }) => ({ key: await control.push.publicKey() }),
  }),
  subscribePush: defineEndpoint("subscribePush", {
    summary:
      "Notify a browser of questions and permission requests, given its subscription of the Push API. It ends with the caller's login or token.",
    body: newPushSubscriptionSchema,
    response: z.object({ id: z.string(), created_at: z.iso.datetime() }),
    handle: async ({ control }, { body }) => {
      const { id, created_at } = await control.push.subscribe(body);
      return { id, created_at };
    },
  }),
  unsubscribePush: defineEndpoint("unsubscribePush", {
    summary: "End a subscription of the caller. Does nothing if there is none.",
    params: z.object({ id: z.string() }),
    handle: async ({ control }, { params }) => void (await control.push.unsubscribe(params.id)),
  }),
};
