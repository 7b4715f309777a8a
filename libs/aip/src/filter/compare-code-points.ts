/**
 * Order two texts by Unicode code point, as UTF-8 bytes would be. JavaScript's own `<` goes by UTF-16 unit and
 * puts `'😀'` before `'\uFFFD'`.
 *
 * @returns negative, 0 or positive, as `Array.prototype.sort` takes it.
 */
export const compareCodePoints = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const order = a.codePointAt(index)! - b.codePointAt(index)!
    if (order !== 0) return order
  }
  return a.length - b.length
}
