import fc from "fast-check";

/** Any text, halves of surrogates too. The unit "binary" of `fc.string` takes a second of each process to list all characters. */
export const anyText = fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units));
