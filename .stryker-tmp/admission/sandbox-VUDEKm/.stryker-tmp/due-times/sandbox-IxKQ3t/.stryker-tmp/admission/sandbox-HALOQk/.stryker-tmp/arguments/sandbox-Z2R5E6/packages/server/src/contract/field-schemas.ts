import type { z } from "zod";

/** One schema for each field of a type, checked by the compiler. */
export type FieldSchemas<T> = { [K in keyof T]-?: z.ZodType<T[K]> };
