// The search of Chinese pages expects this class, which Sphinx 9.0 does not write. Its index has the
// stems of English words.
class ChineseStemmer {
  stemWord(word) {
    return new EnglishStemmer().stemWord(word);
  }
}
