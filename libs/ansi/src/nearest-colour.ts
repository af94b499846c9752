type Rgb = readonly [number, number, number];

/** As xterm draws them. */
const SIXTEEN: readonly Rgb[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];
const CUBE = [0, 95, 135, 175, 215, 255];

/** The one of the sixteen colours of every terminal that is nearest to one of 256 or to one in red, green and blue. */
export function nearestColour(colour: number | Rgb): number {
  if (typeof colour === "number" && colour < 16) return Math.max(0, Math.trunc(colour) || 0);
  const wanted = typeof colour === "number" ? rgbOf(colour) : colour;
  const distances = SIXTEEN.map((one) => one.reduce((sum, part, at) => sum + (part - wanted[at]!) ** 2, 0));
  return distances.indexOf(Math.min(...distances));
}

function rgbOf(index: number): Rgb {
  if (index >= 232) {
    const grey = Math.min(238, 8 + (index - 232) * 10);
    return [grey, grey, grey];
  }
  const at = index - 16;
  return [CUBE[Math.floor(at / 36) % 6]!, CUBE[Math.floor(at / 6) % 6]!, CUBE[at % 6]!];
}
