import { z } from "zod";

/** Longer than the address of any push service. */
const maxEndpointLength = 2_000;

/** What a browser gives for a subscription (Push API). */
export const newPushSubscriptionSchema = z.strictObject({
  /** The address of the browser at its push service. */
  endpoint: z.url({ protocol: /^https?$/ }).max(maxEndpointLength),
  keys: z.strictObject({
    /** Public key of the browser: 65 bytes in base64url. */
    p256dh: z.string().regex(/^B[A-Za-z0-9_-]{86}=?$/),
    /** Shared secret: 16 bytes in base64url. */
    auth: z.string().regex(/^[A-Za-z0-9_-]{22}(==)?$/),
  }),
});
export type NewPushSubscription = z.infer<typeof newPushSubscriptionSchema>;

/** A browser that gets notifications of questions. */
export const pushSubscriptionSchema = newPushSubscriptionSchema.extend({
  id: z.string(),
  created_at: z.iso.datetime(),
  /** The authenticated identity of the caller. Ends with its login or token. */
  created_by: z.string(),
});
export type PushSubscriptionRecord = z.infer<typeof pushSubscriptionSchema>;

/** The keys with which the fleet identifies itself to push services (VAPID), in base64url. */
export const pushKeysSchema = z.object({
  public_key: z.string(),
  private_key: z.string(),
});
export type PushKeys = z.infer<typeof pushKeysSchema>;
