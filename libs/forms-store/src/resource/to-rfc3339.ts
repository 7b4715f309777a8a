const msPerDay = 24 * 60 * 60 * 1000

/** The date of the last time, which is that of most forms on a page. */
let lastDay = Number.NaN
let lastDate = ''

/** The text of `Date.toISOString`, in a third of its time if the last call had the same date (UTC). */
export const toRfc3339 = (time: Date): string => {
  const ms = time.getTime()
  const day = Math.floor(ms / msPerDay)
  if (day !== lastDay) {
    lastDate = time.toISOString().slice(0, -'00:00:00.000Z'.length)
    lastDay = day
  }
  const msOfDay = ms - day * msPerDay
  const seconds = Math.floor(msOfDay / 1000)
  const clock = `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  return `${lastDate}${clock}.${`${msOfDay % 1000}`.padStart(3, '0')}Z`
}

const two = (number: number): string => (number < 10 ? `0${number}` : `${number}`)
