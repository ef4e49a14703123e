"""Retrieval evaluation in one straight line, a package for each step, plain arrays between them.

    data        load_dataset: queries, corpus, and which passage is relevant to which query (qrels)
      ↓
    models      load_model: an embedding model, or vectors computed elsewhere
      ↓
    embeddings  encode: texts to vectors, kept on disk
      ↓
    index       build_index and search: the k best passages of each query, by vectors or by words
      ↓
    metrics     evaluate: recall, MRR, nDCG and others, per query and on average
      ↓
    show        tables, plots, the report page

`systems.rank` walks the line from data to ranking for any system, `significance` says how far to trust a mean or a
difference, `provenance` what a result was made with, `distributed` encodes and searches on many machines, and `report`
does all of it from the command line.
"""
