import { inject } from "vitest";

/**
 * The long run (`pnpm test:long`, TROUPE_TEST_LONG=1) tries every case of a law that holds at many moments or for many
 * inputs. The normal run tries the cases that can find different defects. Tests in packages read `inject("long")`.
 */
declare module "vitest" {
  interface ProvidedContext {
    long: boolean;
  }
}

export const isLong = inject("long");

/** All cases in the long run, otherwise the cases that `isTypical` picks. */
export function casesOf<T>(all: readonly T[], isTypical: (one: T, i: number) => boolean): readonly T[] {
  return isLong ? all : all.filter(isTypical);
}
