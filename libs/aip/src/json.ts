/**
 * A JSON value (RFC 8259). A member may be `undefined`: JSON.stringify drops it, and so a value can say that a
 * name was used and holds nothing.
 */
export type Json = null | boolean | number | string | Json[] | JsonObject

export type JsonObject = { [name: string]: Json | undefined }
