/** Compares by code point, as UTF-8 sorts. `<` compares UTF-16 code units and puts `'😀'` before `'\uFFFD'`. */
export const compareCodePoints = (a: string, b: string): number => {
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const order = a.codePointAt(index)! - b.codePointAt(index)!
    if (order !== 0) return order
  }
  return a.length - b.length
}
