import type { z } from "zod";

/** A schema for every field of a type that is written elsewhere, no more and no fewer. */
export type Shape<T> = { [K in keyof T]-?: z.ZodType<T[K]> };
