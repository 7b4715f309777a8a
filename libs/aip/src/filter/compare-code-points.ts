/**
 * Compares two texts by Unicode code point, which is also the order of their UTF-8 bytes. JavaScript's `<` compares
 * UTF-16 code units and puts `'😀'` before `'\uFFFD'`.
 *
 * @returns a negative number, 0 or a positive number, for `Array.prototype.sort`.
 */
export const compareCodePoints = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const order = a.codePointAt(index)! - b.codePointAt(index)!
    if (order !== 0) return order
  }
  return a.length - b.length
}
