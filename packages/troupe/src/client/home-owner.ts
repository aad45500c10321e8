/** The part of a home that the client needs, in a module of its own, which browsers never load. */
export { locateHome } from "../home/home.ts";
export { findOwner } from "../home/owner.ts";
