/** The grid of the fleet list, shared by its header and rows; two columns on a phone. */
export const columnsClass =
  "grid grid-cols-2 items-center gap-x-4 lg:grid-cols-[minmax(9rem,1.3fr)_minmax(7rem,1fr)_minmax(7rem,1fr)_9.5rem_6.5rem_4rem] xl:grid-cols-[minmax(12rem,1.5fr)_minmax(9rem,1fr)_minmax(10rem,1.5fr)_10rem_8rem_5rem]";
