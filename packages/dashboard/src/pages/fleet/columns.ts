/** The columns of the fleet, the same in its head and in each row; on a phone two, and rows of them. */
export const columns =
  "grid grid-cols-2 items-center gap-x-4 lg:grid-cols-[minmax(11rem,1.3fr)_minmax(10rem,1.4fr)_minmax(12rem,2fr)_11rem_6rem_4rem] xl:grid-cols-[minmax(11rem,1.2fr)_minmax(12rem,1.4fr)_minmax(14rem,2.2fr)_12rem_9rem_5rem]";
