/** A JSON value (RFC 8259). {@link mergePatch} marks removed members with `undefined`, which `JSON.stringify` omits. */
export type Json = null | boolean | number | string | Json[] | JsonObject

export type JsonObject = { [name: string]: Json | undefined }
