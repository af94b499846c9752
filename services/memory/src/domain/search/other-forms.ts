import { stemmer } from "stemmer";

/** Forms of one word that no stemmer brings together. Those that are more often another word, such as "bit" and "lives", are left out. */
const IRREGULAR =
  "become became|begin began begun|bend bent|bite bitten|blow blew blown|break broke broken|bring brought|build built|burn burnt|buy bought|" +
  "catch caught|choose chose chosen|come came|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|" +
  "eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|forget forgot forgotten|" +
  "forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|go went gone|grow grew grown|hang hung|hear heard|" +
  "hide hid hidden|hold held|keep kept|know knew known|lay laid|lead led|learn learnt|leave left|lend lent|lie lain|light lit|lose lost|" +
  "make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|seek sought|" +
  "sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|" +
  "sleep slept|slide slid|speak spoke spoken|spell spelt|spend spent|spin spun|stand stood|steal stole stolen|stick stuck|strike struck|" +
  "swear swore sworn|sweep swept|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|think thought|" +
  "throw threw thrown|understand understood|wake woke woken|wear wore worn|win won|write wrote written|" +
  "child children|foot feet|man men|mouse mice|person people|tooth teeth|woman women";

const others = new Map<string, readonly string[]>();
for (const word of IRREGULAR.split("|")) {
  const forms = [...new Set(word.split(" ").map(stemmer))];
  for (const form of forms)
    others.set(
      form,
      forms.filter((other) => other !== form),
    );
}

/** The terms under which texts have a word that a question asks for by this one. */
export function otherForms(term: string): readonly string[] {
  return others.get(term) ?? [];
}
