import type { secureHeaders } from "hono/secure-headers";

const self = ["'self'"];

/** No third-party resources, no inline scripts, no framing by other pages. */
export const securityHeaderOptions: Parameters<typeof secureHeaders>[0] = {
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: self,
    styleSrc: self,
    fontSrc: self,
    connectSrc: self,
    manifestSrc: self,
    workerSrc: self,
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
  // A TLS proxy in front of the fleet decides about HSTS.
  strictTransportSecurity: false,
};
