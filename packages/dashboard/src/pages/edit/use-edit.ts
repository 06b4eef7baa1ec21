import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { callFleet, type ResponseOfRoute } from "../../api/call-fleet.ts";
import { useFleetMutation } from "../../api/queries.ts";

export interface Edit {
  agent: string;
  create: boolean;
  changes: { path: string[]; value?: unknown }[];
}

export type EditPreview = ResponseOfRoute<"previewEdit">;

const debounceMs = 300;

/** Checks an edit while the user types, and writes it. */
export function useEdit(edit: Edit) {
  const isComplete = edit.agent !== "" && (edit.create || edit.changes.length > 0);
  const serialized = JSON.stringify(edit);
  const checked = useDebounced(serialized, debounceMs);
  const preview = useQuery({
    queryKey: ["previewEdit", checked],
    queryFn: ({ signal }) => {
      const body: Edit = JSON.parse(checked);
      return callFleet("previewEdit", { body, signal });
    },
    enabled: isComplete,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
  const apply = useFleetMutation("applyEdit");
  const isCurrent = checked === serialized && preview.isSuccess && !preview.isPlaceholderData;
  return {
    preview,
    apply,
    canSave: isCurrent && preview.data.problems.length === 0 && isComplete,
    save: (onSuccess: () => void) => {
      if (!preview.data) return;
      const { fingerprint } = preview.data;
      apply.mutate({ body: { ...edit, fingerprint } }, { onSuccess });
    },
  };
}

function useDebounced<T>(value: T, delayMs: number): T {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return debounced;
}
