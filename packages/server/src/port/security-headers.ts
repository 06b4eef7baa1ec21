import type { secureHeaders } from "hono/secure-headers";

const self = ["'self'"];

/** Nothing from elsewhere, no code that stands in a page, and no other page around ours. */
export const headerOptions: Parameters<typeof secureHeaders>[0] = {
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: self,
    styleSrc: self,
    fontSrc: self,
    connectSrc: self,
    manifestSrc: self,
    imgSrc: ["'self'", "data:", "blob:"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
  crossOriginOpenerPolicy: "same-origin",
  crossOriginResourcePolicy: "same-origin",
  referrerPolicy: "no-referrer",
  xFrameOptions: "DENY",
  xContentTypeOptions: "nosniff",
  // Whether there is TLS in front is not for us to say.
  strictTransportSecurity: false,
};
