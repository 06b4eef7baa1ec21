import { Tabs as BaseTabs } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

interface TabsProps<T extends string> {
  label: string;
  value: T;
  onChange(value: T): void;
  tabs: readonly { value: T; title: ReactNode; content: ReactNode }[];
}

/** Controlled tabs: the caller keeps the open tab in the URL. */
export function Tabs<T extends string>({ label, value, onChange, tabs }: TabsProps<T>) {
  const change = (next: unknown) => {
    const found = tabs.find((tab) => tab.value === next);
    if (found) onChange(found.value);
  };
  return (
    <BaseTabs.Root value={value} onValueChange={change}>
      <BaseTabs.List
        aria-label={label}
        className="mb-4 flex gap-1 overflow-x-auto border-b border-line"
      >
        {tabs.map((tab) => (
          <BaseTabs.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px h-9 border-b-2 border-transparent px-3 font-medium whitespace-nowrap text-muted hover:text-text data-active:border-accent data-active:text-text"
          >
            {tab.title}
          </BaseTabs.Tab>
        ))}
      </BaseTabs.List>
      {tabs.map((tab) => (
        <BaseTabs.Panel key={tab.value} value={tab.value}>
          {tab.content}
        </BaseTabs.Panel>
      ))}
    </BaseTabs.Root>
  );
}
